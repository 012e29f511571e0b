# SPDX-License-Identifier: Apache-2.0
"""Judges mutants, several at a time, and keeps the verdicts: a run can be stopped and goes on."""
import concurrent.futures
import json

import mutants


class Verdicts:
    """A file with a line of JSON for each mutant that was judged.

    A mutant is chosen as (place, text, mutant): what it belongs to, the text of that, and the
    fault. `field` is the name of the place in the file.
    """

    def __init__(self, path, field):
        self.path, self.field, self.entries = path, field, {}
        if path.exists():
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                self.entries[entry["key"]] = entry

    def get(self, chosen):
        """What is known of it: a dictionary with its verdict and by whom; or None."""
        return self.entries.get(mutants.key(*chosen))

    def judge(self, to_do, jobs, verdict, say):
        """Asks verdict(place, text, mutant) for (verdict, by whom). Now and then, and for each
        survivor, it prints what say(place, mutant, entry) makes of it."""
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool, open(self.path, "a") as out:
            futures = {pool.submit(verdict, *c): c for c in to_do}
            for n, future in enumerate(concurrent.futures.as_completed(futures), 1):
                place, text, m = futures[future]
                result, by = future.result()
                entry = {
                    "key": mutants.key(place, text, m), self.field: place, "line": m.line, "kind": m.kind,
                    "old": m.old, "new": m.new, "verdict": result, "by": by,
                }
                self.entries[entry["key"]] = entry
                out.write(json.dumps(entry) + "\n")
                out.flush()
                if result == "survived" or n % 50 == 0:
                    print(f"{n}/{len(to_do)} {say(place, m, entry)}", flush=True)
