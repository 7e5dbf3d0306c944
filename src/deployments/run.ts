import type { OpenVariable } from '../environments/variable-store.ts'
import type { Keys } from '../git/keys.ts'
import type { Places } from '../projects/places.ts'
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
    /** Those set by hand until the image is built; then also those of links and Davit's own. */
    variables: OpenVariable[]
    /** Services whose networks the app joins. */
    joins: string[]
    /** What opens the repository and its submodules; nothing where an image is at hand. */
    keys: Keys
    log: (text: string, stream?: NewLine['stream']) => void
    /** Records what is known of the deployment by now. */
    save: (facts: Partial<Deployment>) => void
    signal: AbortSignal
    /** Aborted when Davit stops: what is not undone by then is left to the next process. */
    shutdown: AbortSignal
  }
