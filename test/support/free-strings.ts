import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import * as fields from '../../shared/events/fields.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/** The kinds of string that an event may have, each as JSON Schema: what calls itself so must also be checked so. */
const KINDS: readonly JsonSchema[] = [fields.id, fields.time, fields.sha256, fields.etag, fields.sealed, fields.engineVersion, fields.format].map(withoutDialect);

/**
 * Paths in a schema of event data at which a client's text could enter the log for ever (D88): strings of no known
 * kind, free keys, and anything that is not described.
 */
export function findFreeStrings(schema: z.ZodType): string[] {
  return walk(withoutDialect(schema), 'data');
}

function walk(schema: JsonSchema, path: string): string[] {
  if ('const' in schema || 'enum' in schema) return [];
  const alternatives = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => asSchemas(schema[key]));
  if (alternatives.length > 0) return alternatives.flatMap((alternative) => walk(alternative, path));
  switch (schema['type']) {
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return [];
    case 'string':
      return KINDS.some((kind) => isDeepStrictEqual(kind, schema)) ? [] : [path];
    case 'array':
      return [...asSchemas(schema['prefixItems']), ...asSchemas([schema['items']])].flatMap((item) => walk(item, `${path}[]`));
    case 'object':
      return walkObject(schema, path);
    default:
      return [path];
  }
}

function walkObject(schema: JsonSchema, path: string): string[] {
  const properties = isSchema(schema['properties']) ? Object.entries(schema['properties']) : [];
  const free = schema['additionalProperties'] === false ? [] : [`${path}.*`];
  return [...free, ...properties.flatMap(([name, property]) => walk(isSchema(property) ? property : {}, `${path}.${name}`))];
}

function withoutDialect(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema);
  return rest;
}

function asSchemas(value: unknown): JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
