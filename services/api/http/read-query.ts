import type { z } from 'zod';
import { ApiError, type Issue } from '../errors/api-error.ts';
import type { ApiContext } from './context.ts';

/**
 * Parses the query by a schema of strings. Names that the schema does not have are ignored; a name given twice is an
 * error, because it is not clear which one counts (D33, D48). Throws `ApiError` with every problem.
 */
export function readQuery<Shape extends z.ZodRawShape>(ctx: ApiContext, schema: z.ZodObject<Shape>): z.infer<z.ZodObject<Shape>> {
  const given = new URLSearchParams(ctx.querystring);
  const values: Record<string, string> = {};
  const issues: Issue[] = [];
  for (const name of Object.keys(schema.shape)) {
    const [value, ...more] = given.getAll(name);
    if (more.length > 0) issues.push({ path: name, message: 'must be given only once' });
    else if (value !== undefined) values[name] = value;
  }
  const parsed = schema.safeParse(values);
  if (parsed.success && issues.length === 0) return parsed.data;
  const problems = parsed.success ? [] : parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  throw ApiError.issues([...issues, ...problems]);
}
