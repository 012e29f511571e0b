// SPDX-License-Identifier: Apache-2.0
#ifndef GRADNIC_HOST_NOTIFY_H
#define GRADNIC_HOST_NOTIFY_H
/// What a daemon tells the service manager that started it (sd_notify(3)), for Type=notify.

typedef enum gn_notice { GN_NOTICE_READY, GN_NOTICE_RELOADING, GN_NOTICE_STOPPING } gn_notice;

/// Tells it. Without NOTIFY_SOCKET in the environment it does nothing. It does not wait.
void gn_notify(gn_notice notice);

#endif
