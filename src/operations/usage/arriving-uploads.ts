import { KeyedQueue } from '../../shared/scheduling/keyed-queue.ts';
import type { Connection } from '../../store/connection.ts';
import type { Database } from '../../store/database.ts';

export interface ArrivingTotals {
  readonly bytes: number;
  readonly newUploads: number;
}

export interface NewArrival {
  readonly videoId: string | undefined;
  readonly bytes: number;
  readonly isNew: boolean;
}

export interface Arrival {
  /** Call this when the request has told which video its file is for. */
  setVideo(videoId: string): Promise<void>;
  /** Call this once, when the request has been answered. Never fails. */
  end(): Promise<void>;
}

/** Files that are being received. A file has no other row before it is complete. */
export interface ArrivingUploads {
  /** Adds what `admit` returns. Calls for a project run one after another, so that each counts those before it. */
  add(projectId: string, admit: (connection: Connection) => Promise<NewArrival>): Promise<Arrival>;
  totals(projectId: string, connection?: Connection): Promise<ArrivingTotals>;
  isReceiving(videoId: string, connection?: Connection): Promise<boolean>;
}

/** Arriving uploads of the one server that uses the database. */
export class LocalArrivingUploads implements ArrivingUploads {
  readonly #database: Database;
  readonly #admissions = new KeyedQueue();
  /** Arrivals by project. */
  readonly #arrivals = new Map<string, Set<NewArrival>>();
  /** Files per video. */
  readonly #videos = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  add(projectId: string, admit: (connection: Connection) => Promise<NewArrival>): Promise<Arrival> {
    return this.#admissions.run(projectId, async () => {
      const arrival = await admit(this.#database);
      const others = this.#arrivals.get(projectId) ?? new Set();
      this.#arrivals.set(projectId, others.add(arrival));
      let { videoId } = arrival;
      if (videoId !== undefined) this.#count(videoId, 1);
      let hasEnded = false;
      return {
        setVideo: async id => {
          if (hasEnded || videoId !== undefined) return;
          videoId = id;
          this.#count(id, 1);
        },
        end: async () => {
          hasEnded = true;
          others.delete(arrival);
          if (others.size === 0 && this.#arrivals.get(projectId) === others) this.#arrivals.delete(projectId);
          if (videoId !== undefined) this.#count(videoId, -1);
        },
      };
    });
  }

  async totals(projectId: string): Promise<ArrivingTotals> {
    let bytes = 0;
    let newUploads = 0;
    for (const arrival of this.#arrivals.get(projectId) ?? []) {
      bytes += arrival.bytes;
      if (arrival.isNew) newUploads += 1;
    }
    return { bytes, newUploads };
  }

  async isReceiving(videoId: string): Promise<boolean> {
    return this.#videos.has(videoId);
  }

  #count(videoId: string, files: number): void {
    const left = (this.#videos.get(videoId) ?? 0) + files;
    if (left === 0) this.#videos.delete(videoId);
    else this.#videos.set(videoId, left);
  }
}
