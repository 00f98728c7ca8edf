import { findHeaderProblems } from '../../../shared/egress/header-rules.ts';
import { isOutputFormat, parseOptions, type ParsedOptions } from '../../../shared/domain/catalogue/options/options.ts';
import { normalizeFormat } from '../../../shared/domain/catalogue/formats.ts';
import type { JobTyped } from '../../../shared/domain/job-view.ts';
import type { FetchTerms } from '../../../shared/privacy/fetch-terms.ts';
import type { Issue } from '../errors/api-error.ts';
import { shortText, taskDefinition, type TaskDefinition } from './request-schema.ts';
import { formatOfUrl } from './url-format.ts';

/** Options of one job, as text; far above what any target format knows. */
const OPTIONS_CHARS_MAX = 65_536;

/** What a client wants done; formats in the service's own spelling where it knows them, else in lower case. */
export type JobRequest = {
  /** With what the file is fetched; absent when it is uploaded. */
  readonly fetch?: FetchTerms;
  readonly inputFormat: string;
  readonly outputFormat: string;
  readonly typed: Omit<JobTyped, 'tag'>;
};

/** The request, or every problem it has; `field` names a format that is missing altogether (§2.3 rule 2, D20). */
export type Validated = { readonly request: JobRequest } | { readonly issues: readonly Issue[]; readonly field?: 'input_format' };

type Defined<Operation extends TaskDefinition['operation']> = Extract<TaskDefinition, { operation: Operation }>;
type Task<Definition extends TaskDefinition = TaskDefinition> = { readonly name: string; readonly definition: Definition };
type ImportTask = Task<Defined<'import/upload' | 'import/url'>>;
type ConvertTask = Task<Defined<'convert'>>;
type ExportTask = Task<Defined<'export/url'>>;
type Chain = { readonly source: ImportTask; readonly convert: ConvertTask; readonly export: ExportTask };

/** Checks the `tasks` of a create request by all rules of §2.3 at once, but for whether the pair is supported (D1). */
export function validateTasks(tasks: unknown): Validated {
  if (typeof tasks !== 'object' || tasks === null || Array.isArray(tasks)) return { issues: [{ path: 'tasks', message: 'must be an object of three tasks' }] };
  const issues: Issue[] = [];
  const entries = Object.entries(tasks);
  if (entries.length !== 3) issues.push({ path: 'tasks', message: `must hold exactly three tasks, not ${entries.length}` });
  // With the wrong number of tasks only the first few are looked into: a megabyte of them would give as many issues.
  const parsed = entries.slice(0, 4).flatMap(([name, value]) => parseTask(name, value, issues));
  const chain = findChain(parsed, entries.slice(0, 4).map(([, value]) => operationOf(value)), issues);
  if (!chain) return { issues };
  checkInputs(chain, issues);
  const fetch = checkFetch(chain.source, issues);
  const format = resolveInputFormat(chain, issues);
  const outputFormat = spell(chain.convert.definition.output_format);
  const options = checkOptions(chain.convert, format, issues);
  if (format === 'missing') return { issues, field: 'input_format' };
  if (issues.length > 0 || format === 'contradictory') return { issues };
  const typed = {
    task_names: { import: chain.source.name, convert: chain.convert.name, export: chain.export.name },
    options: options.options,
    ignored_options: options.ignored,
  };
  return { request: { ...(fetch ? { fetch } : {}), inputFormat: format, outputFormat, typed } };
}

function parseTask(name: string, value: unknown, issues: Issue[]): Task[] {
  const path = `tasks.${name}`;
  const goodName = shortText.min(1, { error: 'must not be empty' }).safeParse(name);
  if (!goodName.success) issues.push({ path: 'tasks', message: `the name of a task ${goodName.error.issues[0]?.message ?? 'is not allowed'}` });
  const definition = taskDefinition.safeParse(value);
  if (definition.success) return goodName.success ? [{ name, definition: definition.data }] : [];
  issues.push(...definition.error.issues.map((issue) => ({ path: [path, ...issue.path.map(String)].join('.'), message: issue.message })));
  return [];
}

function operationOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'operation' in value ? value.operation : undefined;
}

/** The three roles. `operations` are those of all tasks, so that a task with another fault is not also called missing. */
function findChain(tasks: readonly Task[], operations: readonly unknown[], issues: Issue[]): Chain | undefined {
  const roles: readonly (readonly [string, readonly unknown[]])[] = [
    ['import task (import/upload or import/url)', ['import/upload', 'import/url']],
    ['convert task', ['convert']],
    ['export/url task', ['export/url']],
  ];
  for (const [role, names] of roles) {
    const count = operations.filter((operation) => names.includes(operation)).length;
    if (count !== 1) issues.push({ path: 'tasks', message: `must hold exactly one ${role}, not ${count}` });
  }
  const source = tasks.find(isImport);
  const convert = tasks.find(isConvert);
  const exported = tasks.find(isExport);
  return source && convert && exported && tasks.length === 3 ? { source, convert, export: exported } : undefined;
}

function isImport(task: Task): task is ImportTask {
  return task.definition.operation === 'import/upload' || task.definition.operation === 'import/url';
}

function isConvert(task: Task): task is ConvertTask {
  return task.definition.operation === 'convert';
}

function isExport(task: Task): task is ExportTask {
  return task.definition.operation === 'export/url';
}

function checkInputs(chain: Chain, issues: Issue[]): void {
  const { source, convert, export: exported } = chain;
  if (convert.definition.input !== source.name) issues.push({ path: `tasks.${convert.name}.input`, message: 'must be the name of the import task' });
  if (exported.definition.input !== convert.name) issues.push({ path: `tasks.${exported.name}.input`, message: 'must be the name of the convert task' });
}

/** The URL itself is checked after the pair (D1); its headers are a matter of form (D83). */
function checkFetch({ name, definition }: ImportTask, issues: Issue[]): FetchTerms | undefined {
  if (definition.operation !== 'import/url') return undefined;
  const { url, headers = {} } = definition;
  for (const { header, message } of findHeaderProblems(headers)) {
    issues.push({ path: header === undefined ? `tasks.${name}.headers` : `tasks.${name}.headers.${header}`, message });
  }
  return { url, headers: Object.entries(headers).map(([header, value]) => [header, String(value)] as const) };
}

/** The format stands on the convert task, else on the import task, else it is the extension of the URL (D20, D21). */
function resolveInputFormat({ source, convert }: Chain, issues: Issue[]): string {
  const onConvert = convert.definition.input_format;
  const url = source.definition.operation === 'import/url' ? source.definition : undefined;
  const stated = [onConvert, url?.input_format].filter((format) => format !== undefined).map(spell);
  const [first, second] = stated;
  if (second !== undefined && first !== second) {
    issues.push({ path: `tasks.${convert.name}.input_format`, message: 'must be the same as input_format of the import task' });
    return 'contradictory';
  }
  const format = first ?? (url && formatOfUrl(url.url));
  if (format !== undefined) return spell(format);
  issues.push({ path: `tasks.${convert.name}.input_format`, message: url ? 'is required when the path of the URL has no file extension' : 'is required with import/upload' });
  return 'missing';
}

function checkOptions(convert: ConvertTask, inputFormat: string, issues: Issue[]): ParsedOptions {
  const { options = {}, output_format } = convert.definition;
  const path = `tasks.${convert.name}.options`;
  const [input, output] = [normalizeFormat(inputFormat), normalizeFormat(output_format)];
  const nothing: ParsedOptions = { options: {}, ignored: [], issues: [] };
  if (JSON.stringify(options).length > OPTIONS_CHARS_MAX) {
    issues.push({ path, message: `must have at most ${OPTIONS_CHARS_MAX} characters` });
    return nothing;
  }
  if (input === undefined || output === undefined || !isOutputFormat(output)) return nothing;
  const parsed = parseOptions(input, output, options);
  issues.push(...parsed.issues.map((issue) => ({ path: `${path}.${issue.path}`, message: issue.message })));
  return parsed;
}

/** The service's own spelling of a format, or lower case where it knows none. */
function spell(format: string): string {
  return normalizeFormat(format) ?? format.toLowerCase();
}
