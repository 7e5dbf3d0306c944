import { bytes, counted } from '../web/units.ts'
import type { ImagePull, Layer } from './progress.ts'

export const PullProgress = ({ images }: { images: ImagePull[] }) =>
  images.some(({ done }) => !done) && (
    <section class="pulls" aria-label="Pulling images">
      {images.map(({ image, layers, done }) => (
        <div class="pull">
          <h2>
            <code>{image}</code>
            <span class="muted">{done ? 'here' : summary(layers)}</span>
          </h2>
          {!done && (
            <ul>
              {layers.filter(isLayer).map((layer) => (
                <LayerBar layer={layer} />
              ))}
            </ul>
          )}
        </div>
      ))}
    </section>
  )

const LayerBar = ({ layer: { id, status, current, total } }: { layer: Layer }) => (
  <li>
    <code>{id.slice(0, 12)}</code>
    <progress
      aria-label={`Layer ${id}: ${status}`}
      max={total || 1}
      value={isHere({ status }) ? total || 1 : current}
    />
    <span class="muted">
      {status}
      {total > 0 && current < total && ` ${bytes(current)} of ${bytes(total)}`}
    </span>
  </li>
)

/** Layers are identified by hash; other lines of a pull are about the whole image. */
const isLayer = ({ id }: Layer) => /^[0-9a-f]{12}/.test(id)

const isHere = ({ status }: Pick<Layer, 'status'>) => /complete|exists/i.test(status)

function summary(all: Layer[]) {
  const layers = all.filter(isLayer)
  if (layers.length === 0) return 'contacting the registry'
  return `${layers.filter(isHere).length} of ${counted(layers.length, 'layer')}`
}
