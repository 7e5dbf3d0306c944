import { ErrorAlert } from '../../web/error-page.tsx'
import { bytes } from '../../web/units.ts'
import type { BuildLimits } from './build-limits.ts'

/** What a build may use, and whether the engine sees to it. */
export const BuildLimitsView = ({ memory, cpus, free, uncapped }: BuildLimits) => (
  <div>
    <p class="muted">
      One build may use {bytes(memory)} of memory and {cpus}{' '}
      {cpus === 1 ? 'processor' : 'processors'}: <code>DAVIT_BUILD_MEMORY</code> and{' '}
      <code>DAVIT_BUILD_CPUS</code> say otherwise.
      {free !== null && ` None begins with less than ${bytes(free)} free on the disk.`}
    </p>
    {uncapped && (
      <ErrorAlert
        title="Nothing holds a build to this"
        detail={`A build may use all memory and processors of the server, because ${uncapped}. With DAVIT_BUILDER=classic the engine holds it itself.`}
      />
    )}
  </div>
)
