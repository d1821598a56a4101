export const playbackRates: readonly number[] = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];

export function nextRate(rate: number, steps: 1 | -1): number {
  const found =
    steps === 1 ? playbackRates.find(other => other > rate) : playbackRates.findLast(other => other < rate);
  return found ?? rate;
}
