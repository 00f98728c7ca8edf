import { z } from 'zod';

/** Longest password that any version of PDF reads, in characters. */
const PASSWORD_MAX = 127;

const PASSWORD_ERROR = `must be one line of 1 to ${PASSWORD_MAX} characters`;

/** The password that opens a source. */
export const password = z
  .string({ error: PASSWORD_ERROR })
  .max(PASSWORD_MAX, { error: PASSWORD_ERROR })
  // A line break would end the line in which a password is handed on.
  .regex(/^[^\n\r\0]+$/, { error: PASSWORD_ERROR })
  .optional()
  .describe('The password that opens the file, where it is protected by one.');
