import { runEdition } from './run-edition.ts';
import { SERVICES } from './services.ts';

runEdition(process.env, SERVICES);
