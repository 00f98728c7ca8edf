import type { Order } from '../apt.ts';

/** Where Debian's archive is; a machine whose own is another one puts that in its place. */
const ARCHIVE = 'http://deb.debian.org/debian';

/** Lines that somebody with root can paste to install what is missing. */
export function commandsFor(orders: readonly Order[]): string {
  const lines = orders.flatMap(({ packages, suite }) => {
    const install = `sudo apt-get install --no-install-recommends ${suite === undefined ? '' : `-t ${suite} `}${packages.join(' ')}`;
    if (suite === undefined) return [install];
    return [`echo 'deb ${ARCHIVE} ${suite} main' | sudo tee /etc/apt/sources.list.d/${suite}.list`, 'sudo apt-get update', install];
  });
  return ['sudo apt-get update', ...lines].map((line) => `  ${line}`).join('\n');
}
