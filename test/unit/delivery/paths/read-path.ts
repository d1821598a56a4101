import { findDeliveryPath } from '../../../../src/delivery/paths/delivery-paths.ts';

/** Returns the kind of a path and its parameters; undefined for a path of the API. */
export function readPath(path: string): Readonly<Record<string, string>> | undefined {
  const found = findDeliveryPath(path);
  return found && { kind: found.kind, ...found.parameters };
}
