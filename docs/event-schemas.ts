import { z } from 'zod';
import { envelope } from '../shared/events/envelope.ts';
import { EVENT_VERSIONS, type EventVersion } from '../shared/events/registry.ts';

/** A file of `docs/events/`. */
export type SchemaFile = { readonly name: string; readonly text: string };

/**
 * One JSON Schema for every version of every event type that was ever shipped: of the whole event as it is stored, so
 * that an auditor can check the log without our code.
 */
export function composeEventSchemas(): SchemaFile[] {
  return Object.entries(EVENT_VERSIONS).flatMap(([type, versions]: [string, readonly EventVersion[]]) =>
    versions.map(({ schema }, index) => {
      const name = `${type}.v${index + 1}.schema.json`;
      return { name, text: `${JSON.stringify(composeSchema(type, index + 1, schema), null, 2)}\n` };
    }),
  );
}

function composeSchema(type: string, dataversion: number, data: z.ZodObject): Readonly<Record<string, unknown>> {
  const stored = envelope.extend({ type: z.literal(type), dataversion: z.literal(dataversion), data });
  return { title: `${type}, version ${dataversion}`, ...z.toJSONSchema(stored) };
}
