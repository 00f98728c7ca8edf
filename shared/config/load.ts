import type { z } from 'zod';
import { ConfigurationError } from '../errors/errors.ts';
import { GROUPS, SETTINGS, type SettingName, type Settings } from './settings.ts';

/** Exit code of a process that was configured wrongly (EX_CONFIG of sysexits.h). */
export const EXIT_BAD_CONFIGURATION = 78;

/** Variables as a process gets them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that must be there. */
export type Given<Name extends SettingName> = { readonly [N in Name]: NonNullable<Settings<N>[N]> };

/**
 * Parses the named settings out of the environment, `required` ones without exception, and groups of settings all or
 * none. An empty variable counts as not set. Throws `ConfigurationError` with every problem at once.
 */
export function loadSettings<Name extends SettingName, Required extends Name = never>(
  environment: Environment,
  names: readonly Name[],
  required: readonly Required[] = [],
): Settings<Name> & Given<Required> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const name of names) {
    const text = environment[name];
    const parsed = SETTINGS[name].safeParse(text === '' ? undefined : text);
    if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => `${name}: ${issue.message}`));
    else if (parsed.data === undefined && isRequired(name, required)) problems.push(`${name}: must be set. ${SETTINGS[name].description ?? ''}`);
    else if (parsed.data !== undefined) values[name] = parsed.data;
  }
  problems.push(...findHalfSet(environment, names));
  if (problems.length > 0) throw new ConfigurationError(problems);
  // Every value was parsed by the schema of its own name.
  return Object.freeze(values) as Settings<Name> & Given<Required>;
}

function findHalfSet(environment: Environment, names: readonly SettingName[]): string[] {
  const isSet = (name: SettingName): boolean => (environment[name] ?? '') !== '';
  return GROUPS.flatMap(({ all, required }) => {
    const given = all.find((name) => names.includes(name) && isSet(name));
    if (given === undefined) return [];
    return required.filter((name) => names.includes(name) && !isSet(name)).map((name) => `${name}: must be set, because ${given} is. ${SETTINGS[name].description ?? ''}`);
  });
}

function isRequired(name: SettingName, required: readonly SettingName[]): boolean {
  return required.includes(name);
}

/** The table of `docs/configuration.md`, from the schemas themselves. */
export function describeSettings(): readonly { readonly name: string; readonly default: string; readonly description: string }[] {
  return Object.entries(SETTINGS).map(([name, schema]) => {
    const parsed = (schema as z.ZodType).safeParse(undefined);
    const fallback = parsed.success && parsed.data !== undefined ? printed(parsed.data) : '';
    return { name, default: fallback, description: (schema as z.ZodType).description ?? '' };
  });
}

function printed(value: unknown): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
