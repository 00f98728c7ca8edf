import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { composeEventSchemas } from '../../docs/event-schemas.ts';
import { decode, encode, envelope, type AggregateRef, type Origin } from '../../shared/events/envelope.ts';
import { AGGREGATE_KINDS, EVENT_VERSIONS, isEventType, latestVersion, type EventVersion } from '../../shared/events/registry.ts';
import { findProjectRoot } from '../../shared/tools/project-root.ts';
import { readGoldenChecksums, readGoldenEvents, type GoldenEvent } from '../support/golden-events.ts';

const VERSIONS = Object.entries(EVENT_VERSIONS).flatMap(([type, versions]: [string, readonly EventVersion[]]) => versions.map((_, index) => `${type}.v${index + 1}`));
const SCHEMA_FOLDER = join(findProjectRoot(), 'docs/events');

describe('golden events', () => {
  const golden = readGoldenEvents();

  it('has one for every version of every event type, and more where fields have joined', () => {
    expect([...new Set(golden.map(versionOf))].toSorted()).to.deep.equal(VERSIONS.toSorted());
  });

  it('has them as they were when they were added', () => {
    expect(Object.fromEntries(golden.map(({ name, sha256 }) => [name, sha256]))).to.deep.equal(Object.fromEntries(readGoldenChecksums()));
  });

  for (const event of golden) {
    it(`${event.name} is read and written back as it is`, () => {
      const stored = parse(event);
      const read = decode(refOf(stored), 1, event.bytes);
      expect(`${stored.type}.v${stored.dataversion}`).to.equal(versionOf(event));
      if (!isEventType(stored.type) || stored.dataversion < latestVersion(stored.type)) return;
      expect(read.event.data).to.deep.equal(stored.data);
      const written = encode(refOf(stored), stored.aggregateversion, read.event, originOf(stored), stored.prevhash);
      expect(JSON.parse(written.toString())).to.deep.equal(stored);
    });

    it(`${event.name} fits its published schema`, () => {
      const ajv = new Ajv2020({ strict: false, allErrors: true });
      addFormats.default(ajv);
      const schema: unknown = JSON.parse(readFileSync(join(SCHEMA_FOLDER, `${versionOf(event)}.schema.json`), 'utf8'));
      const fits = ajv.compile(schema as object);
      expect(fits(JSON.parse(event.bytes.toString())), JSON.stringify(fits.errors)).to.equal(true);
    });
  }
});

describe('published schemas of events', () => {
  const schemas = composeEventSchemas();

  it('are there for every version and for nothing else', () => {
    expect(readdirSync(SCHEMA_FOLDER).filter((name) => name.endsWith('.schema.json')).toSorted()).to.deep.equal(schemas.map(({ name }) => name).toSorted());
  });

  for (const { name, text } of schemas) {
    it(`${name} is what the code says (npm run docs)`, () => {
      expect(readFileSync(join(SCHEMA_FOLDER, name), 'utf8')).to.equal(text);
    });
  }
});

/** `job.created.v1` of `job.created.v1.json` and of `job.created.v1.<what joined>.json`. */
function versionOf({ name }: GoldenEvent): string {
  return name.split('.').slice(0, 3).join('.');
}

type Stored = ReturnType<typeof parse>;

function parse(event: GoldenEvent) {
  return envelope.parse(JSON.parse(event.bytes.toString()));
}

function refOf(stored: Stored): AggregateRef {
  const kind = AGGREGATE_KINDS.find((name) => stored.type.startsWith(`${name}.`));
  if (kind === undefined) throw new Error(`${stored.type} belongs to no aggregate`);
  return { kind, id: stored.subject };
}

function originOf(stored: Stored): Origin {
  return {
    commandId: stored.id,
    correlationId: stored.correlationid,
    causationId: stored.causationid,
    actor: stored.actor,
    tenant: stored.tenant,
    service: stored.source.slice('/services/'.length),
    nowMs: Date.parse(stored.time),
  };
}
