import { runEdition } from '../../services/standalone/run-edition.ts';

// The standalone edition with stand-ins for the services: their main files are the arguments, in the order of stopping.
runEdition(
  process.env,
  process.argv.slice(2).map((entry) => ({ name: /([\w-]+)\.mjs$/.exec(entry)?.[1] ?? entry, entry, stopGraceMs: 1_500 })),
);
