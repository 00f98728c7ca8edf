/** How long the history of deliveries is kept, in ms (§6 delivery 4). */
export const HISTORY_MS = 30 * 24 * 3_600_000;
