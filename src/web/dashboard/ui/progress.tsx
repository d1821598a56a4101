export function Progress({ percent, label }: { percent: number | undefined; label: string }) {
  const known = percent === undefined ? {} : { value: Math.min(100, Math.max(0, percent)) };
  return <progress class="progress" max={100} aria-label={label} {...known} />;
}
