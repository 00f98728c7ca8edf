import type { MigrationBuilder } from 'node-pg-migrate';

/** Forward only, like every migration. */
export const down = false;

/**
 * The hash of the last event of each row, so that a forged event in between is met before it is shown. The tables are
 * emptied and filled anew out of the log, because old rows do not have it.
 */
export function up(pgm: MigrationBuilder): void {
  pgm.sql(`
    truncate jobs_v1, credits_v1;
    alter table jobs_v1 add column last_hash text not null;
    alter table credits_v1 add column last_hash text not null;
    comment on column jobs_v1.last_hash is 'SHA-256 of the stored bytes of the event at last_position; the next event names it';
    comment on column credits_v1.last_hash is 'SHA-256 of the stored bytes of the event at last_position; the next event names it';
    create or replace view jobs as select * from jobs_v1;
    create or replace view credits as select * from credits_v1;
    update projection_positions set position = 0, event_hash = null;
  `);
}
