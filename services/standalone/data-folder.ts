import { chmod, mkdir, stat } from 'node:fs/promises';

/** Root's Postgres runs as another user, who has to walk through the folder; what is secret in it is closed itself. */
const MODE = process.getuid?.() === 0 ? 0o711 : 0o700;

/** Makes the data folder, or opens an existing one as far as Postgres needs it. */
export async function makeDataFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: MODE });
  const { mode } = await stat(folder);
  if ((mode & MODE) !== MODE) await chmod(folder, mode | MODE);
}
