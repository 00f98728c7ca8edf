import type { z } from 'zod';
import { readJsonObject } from '../body/read-body.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiContext } from './context.ts';

/** Problems named in one answer; a list of thousands of bad entries has thousands of problems. */
const ISSUES_MAX = 100;

/** Reads a JSON body by its schema. Throws `ApiError` with the problems of the body, at most `ISSUES_MAX` (D75). */
export async function readBody<Shape extends z.ZodRawShape>(ctx: ApiContext, schema: z.ZodObject<Shape>): Promise<z.infer<z.ZodObject<Shape>>> {
  const parsed = schema.safeParse(await readJsonObject(ctx));
  if (parsed.success) return parsed.data;
  throw ApiError.issues(parsed.error.issues.slice(0, ISSUES_MAX).map(({ path, message }) => ({ path: path.join('.'), message })));
}
