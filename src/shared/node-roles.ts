/** `delivery`: viewers. `worker`: jobs. `ingest`: publishers. */
export const nodeRoles = ['api', 'ingest', 'delivery', 'worker'] as const;

export type NodeRole = (typeof nodeRoles)[number];
