import { WEBHOOK_EVENTS, type WebhookEvent } from '../../shared/domain/webhooks.ts';
import { streamExtent } from '../../shared/consume/read-stream.ts';
import { STREAM_OF } from '../../shared/store/subjects.ts';
import { newWebhookSecret } from '../../shared/webhooks/secret.ts';
import { parseId, required } from './arguments.ts';
import { runCommands, UsageError, type Command, type OptionValues } from './command.ts';
import { withConnection } from './connection.ts';
import { composeEvent, openSources } from './listen/compose-event.ts';
import { followJobEvents } from './listen/follow.ts';
import { forward } from './listen/forward.ts';
import { chooseOrganization } from './listen/organization.ts';
import { deliveryLine, startLines, type Forwarding } from './listen/print.ts';

const listen: Command = {
  name: '',
  usage: `--forward-to URL [--events ${WEBHOOK_EVENTS.join(',')}] [--org ID] [--json]`,
  summary: 'Forwards the events of jobs from now on to a local address, signed like real webhooks, until Ctrl-C. It prints the signing secret first; nothing is registered, kept or tried again.',
  options: { 'forward-to': { type: 'string' }, events: { type: 'string' }, org: { type: 'string' }, json: { type: 'boolean' } },
  arguments: [],
  run: (values) => forwardEvents(values),
};

await runCommands('listen', [listen], process.argv.slice(2));

async function forwardEvents(values: OptionValues): Promise<number> {
  const url = readUrl(required(values, 'forward-to'));
  const events = typeof values['events'] === 'string' ? readEvents(values['events']) : WEBHOOK_EVENTS;
  const wanted = values['org'] === undefined ? undefined : parseId('--org', required(values, 'org'));
  const isJson = values['json'] === true;
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
  const work = withConnection(async (connection) => {
    const { nc } = connection;
    const organizationId = await chooseOrganization(nc, wanted);
    const sources = await openSources(connection);
    const from = (await streamExtent(nc, STREAM_OF.job)).last + 1;
    const forwarding: Forwarding = { url: url.href, events, organizationId, secret: newWebhookSecret() };
    print(startLines(forwarding, isJson));
    for await (const cause of followJobEvents(nc, { organizationId, events, from }, ended.signal)) {
      const event = await composeEvent(sources, cause, ended.signal);
      const outcome = await forward(forwarding, event, ended.signal);
      if (!ended.signal.aborted) print(deliveryLine(event, outcome, isJson));
    }
  });
  await work.catch((error: unknown) => {
    // Whoever ends it does not want to hear what it was waiting for.
    if (!ended.signal.aborted) throw error;
  });
  return 0;
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new UsageError('--forward-to must be an address such as http://localhost:3000/hook');
  if (url.username !== '' || url.password !== '') throw new UsageError('--forward-to must hold no user and no password');
  return url;
}

function readEvents(text: string): readonly WebhookEvent[] {
  const names = text.split(',').map((name) => name.trim());
  const known = WEBHOOK_EVENTS.filter((event) => names.includes(event));
  if (names.some((name) => !known.some((event) => event === name))) throw new UsageError(`--events must be some of ${WEBHOOK_EVENTS.join(',')}`);
  return known;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
