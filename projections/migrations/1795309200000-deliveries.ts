import type { MigrationBuilder } from 'node-pg-migrate';

/** Forward only, like every migration. */
export const down = false;

/**
 * The history of webhook deliveries (§6), when an endpoint last took one, and which endpoints were deleted, so that their
 * history is gone whichever of the two streams is read first.
 */
export function up(pgm: MigrationBuilder): void {
  pgm.sql(`
    create table deliveries_v1 (
      delivery_id uuid constraint deliveries_v1_pkey primary key,
      webhook_id uuid not null,
      organization_id uuid not null,
      event_id uuid not null,
      event text not null,
      job_id uuid,
      replay_of uuid,
      status text not null constraint deliveries_v1_status_check check (status in ('queued', 'retrying', 'delivered', 'failed', 'stopped')),
      attempts int not null,
      status_code int,
      failure text,
      duration_ms bigint,
      queued_at timestamptz not null,
      queued_position bigint not null,
      last_attempt_at timestamptz,
      next_attempt_at timestamptz,
      state jsonb not null,
      version int not null constraint deliveries_v1_version_check check (version >= 1),
      last_position bigint not null,
      last_hash text not null
    );
    comment on column deliveries_v1.job_id is 'Null for a test delivery, which is of no job';
    comment on column deliveries_v1.queued_position is 'Position of the first event; once the stream has let it go, nothing of this row can be made again';
    create index deliveries_v1_newest on deliveries_v1 (webhook_id, queued_at desc, queued_position desc) include (delivery_id, organization_id);
    create index deliveries_v1_by_status on deliveries_v1 (webhook_id, status, queued_at desc, queued_position desc) include (delivery_id, organization_id);
    create index deliveries_v1_by_event on deliveries_v1 (webhook_id, event_id, status);
    create index deliveries_v1_by_age on deliveries_v1 (queued_at);
    create view deliveries as select * from deliveries_v1;

    create table deliveries_v1_successes (
      webhook_id uuid constraint deliveries_v1_successes_pkey primary key,
      succeeded_at timestamptz not null,
      queued_position bigint not null
    );
    comment on table deliveries_v1_successes is 'When each endpoint last took a delivery; stays when the delivery has aged out';
    create view webhook_successes as select * from deliveries_v1_successes;

    create table accounts_v1 (
      organization_id uuid constraint accounts_v1_pkey primary key,
      version int not null constraint accounts_v1_version_check check (version >= 1),
      last_position bigint not null,
      last_hash text not null
    );
    create view accounts as select * from accounts_v1;

    create table accounts_v1_deleted_webhooks (
      webhook_id uuid constraint accounts_v1_deleted_webhooks_pkey primary key,
      organization_id uuid not null
    );
    comment on table accounts_v1_deleted_webhooks is 'Endpoints whose deliveries are in no history any more';
    create view deleted_webhooks as select * from accounts_v1_deleted_webhooks;

    insert into projection_positions (name, stream) values ('deliveries', 'DELIVERIES'), ('accounts', 'ACCOUNTS');
  `);
}
