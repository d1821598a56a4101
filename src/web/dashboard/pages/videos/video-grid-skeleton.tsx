import { Skeleton } from '../../ui/states.tsx';

const cards = 8;

export function VideoGridSkeleton() {
  return (
    <div role="status">
      <span class="for-readers">Loading</span>
      <ul class="video-grid" aria-hidden="true">
        {Array.from({ length: cards }, (_, index) => (
          <li key={index} class="video-card">
            <div class="video-picture" />
            <div class="video-progress" />
            <div class="video-text">
              <Skeleton rows={2} />
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
