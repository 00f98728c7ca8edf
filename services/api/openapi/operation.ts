import type { z } from 'zod';
import type { ErrorCode } from '../errors/api-error.ts';

/** One successful answer of an operation. */
export type SuccessDescription = {
  readonly description: string;
  /** Schema of a JSON body, or the media types of another body; nothing for an answer without one. */
  readonly body?: z.ZodType | readonly string[];
  /** Headers beyond those that every answer has, with what they say. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that only some of these answers have. */
  readonly headersAtTimes?: Readonly<Record<string, string>>;
};

/** An endpoint as `/openapi.json` shows it; made from the same schemas that check requests. */
export type OperationDescription = {
  readonly operationId: string;
  readonly tag: 'Jobs' | 'Uploads' | 'Webhooks' | 'Account' | 'Public' | 'Files' | 'Health';
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  /** Signed links have their authorization in the query; clients take them as they are. */
  readonly parameters?: z.ZodObject;
  readonly requestHeaders?: z.ZodObject;
  /** Schema of a JSON body, or the media types of another body. */
  readonly body?: z.ZodType | readonly string[];
  readonly success: Readonly<Record<number, SuccessDescription>>;
  /** Errors beyond those that the access rule of the route brings along, by status. */
  readonly errors?: Readonly<Record<number, readonly ErrorCode[]>>;
};
