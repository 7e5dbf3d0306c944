import type { OpenVariable } from '../environments/variable-store.ts'
import type { Keys } from '../git/keys.ts'
import type { Brought } from '../runtime/images/bring.ts'
import type { Places } from '../projects/places.ts'
import type { WantedImage } from './dockerfile/inspect.ts'
import type { NewLine } from '../logs/log-line.tsx'
import type { PipelineDeps } from './pipeline.ts'
import type { Deployment, Job } from './store.ts'

/** What a step may use. It sees nothing of HTTP. */
export type Run = Job &
  Omit<PipelineDeps, 'logDb' | 'logs' | 'masks'> & {
    /** Where the ports of the project's owner are published. */
    places: Places

    /** 1, and more after a crash of Davit. */
    attempt: number
    variables: OpenVariable[]
    /** What opens the repository and its submodules; nothing where an image is at hand. */
    keys: Keys
    /** Has an image that the owner may use on the engine, and tells its name there. */
    bringImage: (wanted: WantedImage, signal: AbortSignal) => Promise<Brought>
    /** Builds while nobody else pulls what is private to them. */
    buildApart: (build: () => Promise<void>, signal: AbortSignal) => Promise<void>
    /** The reference that the image built gets. */
    imageName: string
    /** What keeps the cache mounts of the owner's builds apart from everyone else's; can't be guessed. */
    cacheNamespace: string
    log: (text: string, stream?: NewLine['stream']) => void
    /** Records what is known of the deployment by now. */
    save: (facts: Partial<Deployment>) => void
    signal: AbortSignal
    /** Aborted when Davit stops: what is not undone by then is left to the next process. */
    shutdown: AbortSignal
  }
