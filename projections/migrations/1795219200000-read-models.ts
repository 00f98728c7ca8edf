import type { MigrationBuilder } from 'node-pg-migrate';

/** Migrations go forward only: an older version of the service never runs on newer tables. */
export const down = false;

/**
 * The read models of jobs and credits, each behind a view that queries use, and the position each has reached. Tables
 * are no public interface; everything in them can be made again out of the log.
 */
export function up(pgm: MigrationBuilder): void {
  pgm.sql(`
    create table projection_positions (
      name text primary key,
      stream text not null,
      position bigint not null default 0 check (position >= 0),
      event_hash text check ((event_hash is null) = (position = 0)),
      stream_created text,
      halted text check (halted in ('defect', 'log_behind')),
      updated_at timestamptz not null default now()
    );
    comment on column projection_positions.event_hash is 'SHA-256 of the stored bytes of the event at position; tells whether the log is still the one that was read';
    insert into projection_positions (name, stream) values ('jobs', 'JOBS'), ('credits', 'CREDITS');

    create table jobs_v1 (
      job_id uuid constraint jobs_v1_pkey primary key,
      organization_id uuid not null,
      key_mode text not null,
      api_key_id uuid not null,
      tag_hmac text,
      created_at timestamptz not null,
      created_position bigint not null,
      status text not null,
      turns_expired_at timestamptz,
      state jsonb not null,
      version int not null constraint jobs_v1_version_check check (version >= 1),
      last_position bigint not null
    );
    comment on column jobs_v1.turns_expired_at is 'From this time on the job is expired, although the event that says so may still be on its way';
    create index jobs_v1_newest on jobs_v1 (organization_id, key_mode, created_at desc, created_position desc);
    create index jobs_v1_by_status on jobs_v1 (organization_id, key_mode, status, created_at desc, created_position desc);
    create index jobs_v1_by_tag on jobs_v1 (organization_id, key_mode, tag_hmac, created_at desc, created_position desc) where tag_hmac is not null;
    create index jobs_v1_by_api_key on jobs_v1 (organization_id, key_mode, api_key_id, created_at desc, created_position desc);
    create view jobs as select * from jobs_v1;

    create table credits_v1 (
      organization_id uuid constraint credits_v1_pkey primary key,
      granted bigint not null constraint credits_v1_granted_check check (granted >= 0),
      held bigint not null constraint credits_v1_held_check check (held >= 0),
      charged bigint not null constraint credits_v1_charged_check check (charged >= 0),
      version int not null constraint credits_v1_version_check check (version >= 1),
      last_position bigint not null,
      constraint credits_v1_balance_check check (granted - held - charged >= 0)
    );
    create view credits as select * from credits_v1;
  `);
}
