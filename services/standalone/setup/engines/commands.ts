import type { Order } from '../apt.ts';

/**
 * Lines that somebody with root can paste to install what is missing. `archive` is the address of the machine's own main
 * archive; where that is not known, a line says in words which suite has to be added.
 */
export function commandsFor(orders: readonly Order[], archive: string | undefined): string {
  const lines = orders.flatMap(({ packages, suite }) => {
    const install = `sudo apt-get install --no-install-recommends ${suite === undefined ? '' : `-t ${suite} `}${packages.join(' ')}`;
    if (suite === undefined) return [install];
    const add = archive === undefined ? `# add the suite ${suite} to the sources of apt, then` : `echo 'deb ${archive} ${suite} main' | sudo tee /etc/apt/sources.list.d/${suite}.list`;
    return [add, 'sudo apt-get update', install];
  });
  return ['sudo apt-get update', ...lines].map((line) => `  ${line}`).join('\n');
}
