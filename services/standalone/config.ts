import { resolve } from 'node:path';
import { loadSettings, type Environment } from '../../shared/config/load.ts';
import { SETTINGS, type SettingName } from '../../shared/config/settings.ts';

/** All but the health port: the services of one machine cannot share it, and the edition watches them itself. */
const NAMES = Object.keys(SETTINGS).filter((name): name is Exclude<SettingName, 'HEALTH_PORT'> => name in SETTINGS && name !== 'HEALTH_PORT');
/** What a program of the system needs besides our settings. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'LANG'];

/** What the standalone edition itself needs to know. */
export interface StandaloneConfig {
  /** Absolute. */
  readonly dataFolder: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
  readonly natsUrl: string | undefined;
  readonly natsMonitorUrl: string | undefined;
  readonly natsReplicas: number;
  readonly durabilityCheck: 'warn' | 'refuse';
  readonly natsServerBin: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly masterKey: string | undefined;
  /** Settings as they were given, and the few variables of the system, for the services. */
  readonly passedOn: Readonly<Record<string, string>>;
}

/**
 * Reads all settings of all services, so that a mistake in any of them is told before anything is started.
 * @throws ConfigurationError with every problem.
 */
export function readStandaloneConfig(environment: Environment): StandaloneConfig {
  const settings = loadSettings(environment, NAMES);
  const given = [...NAMES, ...PASSED_ON].flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, value] as const];
  });
  return {
    dataFolder: resolve(settings.DATA_DIR),
    port: settings.PORT,
    publicUrl: settings.PUBLIC_URL,
    natsUrl: settings.NATS_URL,
    natsMonitorUrl: settings.NATS_MONITOR_URL,
    natsReplicas: settings.NATS_REPLICAS,
    // The default is for production; one machine of somebody who tries the service warns.
    durabilityCheck: environment['DURABILITY_CHECK'] === 'refuse' ? 'refuse' : 'warn',
    natsServerBin: settings.NATS_SERVER_BIN,
    databaseUrl: settings.DATABASE_URL,
    masterKey: settings.MASTER_KEY,
    passedOn: Object.fromEntries(given),
  };
}
