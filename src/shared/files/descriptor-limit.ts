import { readFileSync } from 'node:fs';

const reservedDescriptors = 1_000;

/** Undefined outside of Linux. Node raises the soft limit at its start. **Source**: proc_pid_limits(5) */
export function readDescriptorLimit(path = '/proc/self/limits'): number | undefined {
  try {
    const soft = /^Max open files +(\d+|unlimited) /m.exec(readFileSync(path, 'utf8'))?.[1];
    if (soft === undefined) return undefined;
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return undefined;
  }
}

export function missingDescriptors(
  limit: number | undefined,
  connections: { readonly http: number; readonly rtmp: number },
): { readonly limit: number; readonly needed: number; readonly advice: string } | undefined {
  const needed = connections.http + connections.rtmp + reservedDescriptors;
  if (limit === undefined || limit >= needed) return undefined;
  const advice =
    'Connections beyond the limit will fail. Raise the limit on open files (ulimit -Hn, LimitNOFILE of systemd, --ulimit nofile of ' +
    'docker), or lower http.maxConnections and rtmp.maxConnections.';
  return { limit, needed, advice };
}
