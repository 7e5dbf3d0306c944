import type { OpenVariable } from '../environments/variable-store.ts'
import type { Keys } from '../git/keys.ts'
import type { Places } from '../addresses/places.ts'
import type { NewLine } from '../logs/log-line.tsx'
import type { PipelineDeps } from './pipeline.ts'
import type { Deployment, Job } from './store.ts'

/** What a step may use. It knows nothing about HTTP. */
export type Run = Job &
  Omit<PipelineDeps, 'logDb' | 'logs' | 'masks'> & {
    /** Where the ports of the project's owner are published. */
    places: Places

    /** 1, and more after a crash of Davit. */
    attempt: number
    /** Those set by hand, if not the current ones. */
    own: OpenVariable[] | undefined
    /** Those set by hand until the image is built; then also those of links and Davit's own. */
    variables: OpenVariable[]
    /** Services whose networks the app joins. */
    joins: string[]
    /** The credentials for the repository and its submodules; empty when an image is reused. */
    keys: Keys
    log: (text: string, stream?: NewLine['stream']) => void
    /** Records what is known about the deployment so far. */
    save: (facts: Partial<Deployment>) => void
    signal: AbortSignal
    /** Waits for a slot before what uses the machine. */
    takeSlot: () => Promise<void>
    /** Aborted when Davit stops: the rest of the undo is left to the next process. */
    shutdown: AbortSignal
  }
