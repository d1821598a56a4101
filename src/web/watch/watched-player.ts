import type { MillracePlayer } from '../player/element/millrace-player.ts';
import type { PlayerPhase } from '../player/element/player-media.ts';

interface PlayerEvents {
  onTime(seconds: number): void;
  onPhase(phase: PlayerPhase): void;
  /** Undefined where they are not shown. */
  onViewers(count: number | undefined): void;
  /** The viewer goes to another video. */
  onNext(url: string): void;
}

/** The player of the page. */
export class WatchedPlayer {
  readonly #player: MillracePlayer;

  constructor(player: MillracePlayer, { onTime, onPhase, onViewers, onNext }: PlayerEvents) {
    this.#player = player;
    let phase = player.media.phase;
    player.addEventListener('timeupdate', () => onTime(player.currentTime));
    player.addEventListener('seeking', () => onTime(player.currentTime));
    // The page around the player changes, too, so that the player must not go on by itself.
    player.addEventListener(
      'millracesource',
      event => {
        event.stopImmediatePropagation();
        onNext((event as CustomEvent<{ readonly url: string }>).detail.url);
      },
      true,
    );
    player.addEventListener('millracechange', () => {
      onViewers(player.media.details?.viewers);
      if (player.media.phase === phase) return;
      phase = player.media.phase;
      onPhase(phase);
    });
    if (phase !== 'loading') onPhase(phase);
  }

  share(): void {
    // A click tries again where the code did not arrive.
    this.#player
      .loadControls()
      .then(controls => controls.openShareSheet())
      .catch(() => {});
  }

  /** Plays from there. */
  seekTo(seconds: number): void {
    this.#player.currentTime = seconds;
    // Browsers that do not allow it leave the viewer the button.
    this.#player.play().catch(() => {});
  }

  load(address: string): void {
    this.#player.src = address;
  }
}
