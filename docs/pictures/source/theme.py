# SPDX-License-Identifier: Apache-2.0
"""Colours and fonts of all pictures, in light and in dark.

A colour is used by its role. In the SVG a role is a pair of classes, f-ROLE to fill and s-ROLE to
draw a line; one style sheet gives them a colour for light and, on dark screens, another. Series
take colours that colour-blind people can tell apart (Okabe and Ito); shapes and words repeat what
colours say.
"""

SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

# role: (light, dark)
ROLES = {
    "page": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#f0f6fc"),
    "quiet": ("#57606a", "#a9b4bf"),  # words that matter less
    "rule": ("#c8d1da", "#3d444d"),  # borders, grids
    "panel": ("#f3f5f8", "#171e27"),  # the ground of a part
    "blue": ("#0068a8", "#56b4e9"),
    "green": ("#007a5a", "#2fc79a"),
    "red": ("#b84a00", "#ff9248"),  # vermilion
    "purple": ("#a4467e", "#e59cc6"),
    "orange": ("#b07a00", "#f2bd3c"),
    "grey": ("#6b7580", "#9aa5b1"),
    "blue-soft": ("#dceefb", "#10324a"),
    "green-soft": ("#d8f3e9", "#0d3b2e"),
    "red-soft": ("#fde6d6", "#4a2710"),
    "purple-soft": ("#f8e3ef", "#43213a"),
    "orange-soft": ("#fdf0cc", "#46360a"),
    "grey-soft": ("#e7ebef", "#262e38"),
}


def light(role):
    """The colour of a role on a light page. No two roles share one: plots are read back by it."""
    return ROLES[role][0]


def style_sheet(extra=""):
    """The style of a picture: classes of all roles, and what dark screens change."""

    def rules(which):
        return "".join(
            f".f-{role}{{fill:{pair[which]}}}.s-{role}{{stroke:{pair[which]}}}" for role, pair in ROLES.items()
        )

    return (
        f"text{{font-family:{SANS}}}.mono{{font-family:{MONO}}}.bold{{font-weight:600}}{extra}"
        f"{rules(0)}@media screen and (prefers-color-scheme:dark){{{rules(1)}}}"
    )
