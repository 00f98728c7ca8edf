import { expect } from 'chai';
import { sharedWebhookService } from '../../../support/webhook-service.ts';

const EVENTS = ['job.created', 'job.finished', 'job.failed', 'job.cancelled'];

type Schema = { readonly $ref?: string; readonly required?: readonly string[]; readonly properties?: Readonly<Record<string, Schema & { readonly enum?: readonly unknown[]; readonly const?: unknown }>> };
type Described = {
  readonly paths: Readonly<Record<string, object>>;
  readonly webhooks: Readonly<Record<string, { readonly post: { readonly security: readonly object[]; readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]; readonly requestBody: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }; readonly responses: object } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

describe('The webhooks of the OpenAPI document (§6, §9.6)', function () {
  this.timeout(120_000);
  let document: Described;

  before(async () => {
    const { service } = await sharedWebhookService();
    document = (await (await fetch(`${service.baseUrl}/v1/openapi.json`)).json()) as Described;
  });

  const follow = (schema: Schema | undefined): Schema => (schema?.$ref === undefined ? (schema ?? {}) : follow(document.components.schemas[schema.$ref.split('/').at(-1) ?? '']));

  it('are the four events, each with its body (§6 body)', () => {
    expect(Object.keys(document.webhooks)).to.deep.equal(EVENTS);
    for (const [event, { post }] of Object.entries(document.webhooks)) {
      expect(Object.keys(post.requestBody.content)).to.deep.equal(['application/json']);
      const body = follow(post.requestBody.content['application/json']?.schema);
      expect(body.required, event).to.have.members(['id', 'event', 'created_at', 'data']);
      const { const: only, enum: allowed } = body.properties?.['event'] ?? {};
      expect(allowed ?? [only]).to.deep.equal([event]);
      expect(body.properties?.['data']?.properties?.['job']).to.deep.equal({ $ref: '#/components/schemas/Job' });
      expect('test' in (body.properties ?? {}), event).to.equal(event === 'job.finished');
    }
  });

  it('name every header, and need no key (§6 headers, §5.11)', () => {
    for (const { post } of Object.values(document.webhooks)) {
      expect(post.security).to.deep.equal([]);
      expect(post.parameters.every((parameter) => parameter.in === 'header' && parameter.required)).to.equal(true);
      expect(post.parameters.map(({ name }) => name)).to.include.members(['Service-Signature', 'Service-Event-Id', 'User-Agent', 'webhook-id', 'webhook-timestamp', 'webhook-signature']);
      expect(Object.keys(post.responses)).to.include.members(['2XX', '410']);
    }
  });

  it('stand beside the endpoints that register them (§4.6)', () => {
    expect(Object.keys(document.paths)).to.include.members(['/webhooks', '/webhooks/{webhook_id}', '/webhooks/{webhook_id}/test', '/webhooks/{webhook_id}/deliveries', '/webhooks/{webhook_id}/replay', '/webhooks/{webhook_id}/deliveries/{delivery_id}/replay']);
  });
});
