import type { ImagePull, Layer } from './progress.ts'

/** How far each image is, layer by layer. */
export const PullProgress = ({ images }: { images: ImagePull[] }) =>
  images.some(({ done }) => !done) && (
    <section class="pulls" aria-label="Images on their way">
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
      max={100}
      value={percent({ status, current, total })}
    />
    <span class="muted">
      {status}
      {total > 0 && current < total && ` ${megabytes(current)} of ${megabytes(total)}`}
    </span>
  </li>
)

/** Layers are named by their hash; other lines of a pull are about the whole. */
const isLayer = ({ id }: Layer) => /^[0-9a-f]{12}/.test(id)

const isHere = ({ status }: Pick<Layer, 'status'>) => /complete|exists/i.test(status)

function percent({ status, current, total }: Pick<Layer, 'status' | 'current' | 'total'>) {
  if (isHere({ status })) return 100
  return total > 0 ? Math.min(100, Math.round((100 * current) / total)) : 0
}

function summary(all: Layer[]) {
  const layers = all.filter(isLayer)
  if (layers.length === 0) return 'asking the registry'
  return `${layers.filter(isHere).length} of ${layers.length} layers`
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
