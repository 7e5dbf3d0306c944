import type { Pin } from '../runtime/pins.ts'
import { Fact } from '../web/components.tsx'

/** Nothing of it is started elsewhere. */
export const PinNote = ({ pin }: { pin: Pin | null }) =>
  pin?.isAway && (
    <p class="note" role="status">
      It waits for <bdi>{pin.server}</bdi>, which doesn’t respond: its state is the last one known.
      {pin.hasVolumes && ' Its volumes are there, so it isn’t started elsewhere.'}
    </p>
  )

export const PinFact = ({ pin }: { pin: Pin | null }) =>
  pin && (
    <Fact name="Server">
      <bdi>{pin.server}</bdi>
      {pin.hasVolumes && <span class="muted"> where its volumes are</span>}
    </Fact>
  )
