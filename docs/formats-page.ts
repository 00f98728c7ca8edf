import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FORMATS, type FormatName } from '../shared/domain/catalogue/formats.ts';
import { OPTION_SCHEMAS } from '../shared/domain/catalogue/options/options.ts';
import { listPairs, type Pair } from '../shared/domain/catalogue/pairs.ts';
import { ENGINE_NAMES, LANE_OF, type EngineName } from '../shared/domain/catalogue/tools.ts';

/** What `npm run quality` keeps. */
const qualityFile = z.object({
  date: z.string(),
  machine: z.string(),
  pairs: z.array(z.object({ input: z.string(), output: z.string(), sample: z.string(), billable_ms: z.number() }).catchall(z.number())),
});

const TITLES: Readonly<Record<EngineName, string>> = {
  image: 'Images',
  pdf: 'From PDF',
  office: 'Documents, spreadsheets, presentations',
  media: 'Audio and video',
};

/** The page `docs/formats.md`, out of the catalogue and the last measured quality. */
export function composeFormatsPage(): string {
  const pairs = listPairs();
  return `# Formats

What the service converts, generated from the catalogue and from the last measurement (\`npm run docs\`). A running
service offers the pairs whose tools are installed beside its converters; \`GET /v1/operations\` lists exactly those.

${ENGINE_NAMES.map((engine) => composeFamily(engine, pairs.filter((pair) => pair.engine === engine))).join('\n')}
## Options

An option that the target does not know, or that has no effect on such a source, is no error: it is named in the task's
\`ignored_options\`. A value that is not allowed is refused with 400 and says what is.

${Object.entries(OPTION_SCHEMAS).map(([format, schema]) => composeOptions(format, schema)).join('\n')}
${composeQuality()}`;
}

function composeFamily(engine: EngineName, pairs: readonly Pair[]): string {
  const rows = groupInputs(pairs).map(
    ({ inputs, first, outputs }) => `| ${inputs.join(', ')} | ${outputs.join(', ')} | ${first.weight} | ${first.estimate} | ${first.tools.join(', ')} | ${first.bestEffort ? 'best effort' : ''} |`,
  );
  return `## ${TITLES[engine]}

Converted in the lane \`${LANE_OF[engine]}\`.

| from | to | weight | credits held | tools | |
|---|---|---|---|---|---|
${rows.join('\n')}
`;
}

type Group = { readonly inputs: string[]; readonly first: Pair; readonly outputs: readonly string[] };

/** Inputs of which the same is made at the same price, together in one row. A format to itself is in the list of outputs. */
function groupInputs(pairs: readonly Pair[]): readonly Group[] {
  const byInput = new Map<string, Pair[]>();
  for (const pair of pairs) {
    const key = JSON.stringify([pair.input, pair.weight, pair.estimate, pair.tools, pair.bestEffort]);
    byInput.set(key, [...(byInput.get(key) ?? []), pair]);
  }
  const groups = new Map<string, Group>();
  for (const [first, ...rest] of byInput.values()) {
    if (!first) continue;
    const outputs = [first, ...rest].map(({ output }) => output).toSorted();
    const others = outputs.filter((output) => output !== first.input);
    const key = JSON.stringify([others.length === outputs.length ? outputs : 'itself', first.weight, first.estimate, first.tools, first.bestEffort, outputs.length, FORMATS[first.input].category]);
    const group = groups.get(key);
    if (group && sameOutputs(group, outputs, first.input)) group.inputs.push(first.input);
    else groups.set(group ? `${key} ${first.input}` : key, { inputs: [first.input], first, outputs });
  }
  return [...groups.values()];
}

function sameOutputs(group: Group, outputs: readonly string[], input: FormatName): boolean {
  const own = new Set([...group.inputs, input]);
  const rest = (list: readonly string[]): string => list.filter((output) => !own.has(output as FormatName)).join();
  return rest(group.outputs) === rest(outputs);
}

function composeOptions(format: string, schema: z.ZodObject): string {
  const { properties = {} } = z.toJSONSchema(schema);
  const rows = Object.entries(properties).map(([key, property]) => `| \`${key}\` | ${describeValues(property)} | ${describeInputs(property, format)} | ${describe(property)} |`);
  return `### ${format}

| option | values | for | |
|---|---|---|---|
${rows.join('\n')}
`;
}

const property = z.object({
  type: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  description: z.string().optional(),
  'x-inputs': z.array(z.string()).optional(),
});

function describeValues(schema: unknown): string {
  const { type, enum: values, minimum, maximum } = property.parse(schema);
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  return type === 'boolean' ? '`true`, `false`' : (type ?? '');
}

/** Those of which the format is made; an option of several targets names the sources of all. */
function describeInputs(schema: unknown, output: string): string {
  const inputs = listPairs().filter((pair) => pair.output === output).map(({ input }) => input);
  const sources = new Set<string>([...inputs, ...inputs.map((input) => FORMATS[input].category)]);
  return property.parse(schema)['x-inputs']?.filter((name) => sources.has(name)).join(', ') ?? 'all';
}

function describe(schema: unknown): string {
  return (property.parse(schema).description ?? '').replaceAll('|', '\\|');
}

function composeQuality(): string {
  const path = join(import.meta.dirname, 'quality.json');
  if (!existsSync(path)) return '';
  const { date, machine, pairs } = qualityFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  const rows = pairs.map(({ input, output, sample, billable_ms, ...measures }) => `| ${input} → ${output} | ${sample} | ${billable_ms} | ${Object.entries(measures).map(([name, value]) => `${name} ${value}`).join(', ')} |`);
  return `## Last measured quality

Every pair on a real file, judged by programs that had no part in converting it; measured ${date} on ${machine} by
\`npm run quality\`. \`recall\` is the part of the source's words that the result holds, \`off\` how far its length is off in seconds.

| pair | file | ms | measured |
|---|---|---|---|
${rows.join('\n')}
`;
}
