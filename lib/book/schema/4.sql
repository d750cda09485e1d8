-- SPDX-License-Identifier: GPL-2.0-or-later
-- Version 4: the time that others took from each sample, and the CPUs on which they ran; counters of interrupts and of
-- the processor.

ALTER TABLE sample ADD COLUMN wait_ns INTEGER CHECK(wait_ns >= 0);
ALTER TABLE execution ADD COLUMN cpu INTEGER CHECK(cpu >= 0);
ALTER TABLE execution ADD COLUMN same_cpu_ns INTEGER CHECK(same_cpu_ns >= 0);
ALTER TABLE counters ADD COLUMN interrupts_ns INTEGER;
ALTER TABLE counters ADD COLUMN smis INTEGER;
ALTER TABLE counters ADD COLUMN temperature_change_millicelsius INTEGER;
ALTER TABLE counters ADD COLUMN clock_speed_ppm INTEGER;
DROP VIEW samples_readable;
DROP VIEW executions_readable;

CREATE VIEW samples_readable AS
  SELECT run, n AS sample, program, datetime(start_ns / 1000000000, 'unixepoch') AS start_utc,
    round(et_ns / 1e6, 6) AS et_ms, round(pt_ns / 1e6, 6) AS pt_ms,
    round(wait_ns / 1e6, 6) AS wait_ms, exit_status, incomplete
  FROM sample JOIN run ON run.id = sample.run;

CREATE VIEW executions_readable AS
  SELECT run, sample, name AS daemon, unit, exe, pid, round(pt_ns / 1e6, 6) AS pt_ms, cpu,
    round(same_cpu_ns / 1e6, 6) AS same_cpu_ms
  FROM execution JOIN source ON source.id = execution.source;
