import type { MigrationBuilder } from 'node-pg-migrate';

/** Forward only, like every migration. */
export const down = false;

/**
 * Totals of lists that are counted as they change, and indexes from which a page is found without a look at the rows in
 * front of it. The table of totals is filled from the rows that are there.
 */
export function up(pgm: MigrationBuilder): void {
  pgm.sql(`
    drop index jobs_v1_newest, jobs_v1_by_status, jobs_v1_by_tag, jobs_v1_by_api_key;
    create index jobs_v1_newest on jobs_v1 (organization_id, key_mode, created_at desc, created_position desc) include (job_id);
    create index jobs_v1_by_status on jobs_v1 (organization_id, key_mode, status, created_at desc, created_position desc) include (job_id, turns_expired_at);
    create index jobs_v1_by_tag on jobs_v1 (organization_id, key_mode, tag_hmac, created_at desc, created_position desc) include (job_id) where tag_hmac is not null;
    create index jobs_v1_by_api_key on jobs_v1 (organization_id, key_mode, api_key_id, created_at desc, created_position desc) include (job_id);
    create index jobs_v1_by_api_key_status on jobs_v1 (organization_id, key_mode, api_key_id, status, created_at desc, created_position desc) include (job_id, turns_expired_at);
    create index jobs_v1_turning on jobs_v1 (organization_id, key_mode, turns_expired_at) where turns_expired_at is not null;

    create table jobs_v1_counts (
      organization_id uuid,
      key_mode text,
      api_key_id uuid,
      status text,
      jobs bigint not null constraint jobs_v1_counts_jobs_check check (jobs > 0),
      constraint jobs_v1_counts_pkey primary key (organization_id, key_mode, api_key_id, status)
    );
    comment on table jobs_v1_counts is 'How many rows jobs_v1 has of each kind; written in the same transaction';
    insert into jobs_v1_counts select organization_id, key_mode, api_key_id, status, count(*) from jobs_v1 group by 1, 2, 3, 4;
    create view job_counts as select * from jobs_v1_counts;
  `);
}
