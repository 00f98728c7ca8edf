import { z } from 'zod';

/** What the environment may tell the set-up. */
export interface SetupConfig {
  /** The operator's own nats-server, used instead of any other. */
  readonly natsServerBin: string | undefined;
  /** The npm that runs us, so that we do not depend on another one in the PATH. */
  readonly npmScript: string | undefined;
}

const optional = z.string().transform((value) => (value === '' ? undefined : value)).optional();
const schema = z.object({ NATS_SERVER_BIN: optional, npm_execpath: optional });

/** Reads the few variables that the set-up knows. */
export function readSetupConfig(environment: NodeJS.ProcessEnv): SetupConfig {
  const values = schema.parse(environment);
  return { natsServerBin: values.NATS_SERVER_BIN, npmScript: values.npm_execpath };
}
