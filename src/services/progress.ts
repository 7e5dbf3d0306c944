/** A layer of an image on its way here, in bytes; `total` 0 while it is not known. */
export type Layer = { id: string; status: string; current: number; total: number }

export type ImagePull = { image: string; layers: Layer[]; done: boolean }

/** How far the images of a start have come, for all viewers: kept in memory, like the start itself. */
export class PullProgress {
  readonly #images = new Map<string, { layers: Map<string, Layer>; done: boolean }>()
  readonly #changed: () => void

  constructor(changed: () => void) {
    this.#changed = changed
  }

  begin(image: string) {
    this.#images.set(image, { layers: new Map(), done: false })
    this.#changed()
  }

  /** Missing fields of a layer keep their value: its size is only sent with the first bytes. */
  layer(image: string, layer: Layer) {
    const { layers } = this.#images.get(image)!
    const total = layer.total || (layers.get(layer.id)?.total ?? 0)
    const isHere = /complete|exists/i.test(layer.status)
    layers.set(layer.id, { ...layer, total, current: isHere ? total : layer.current })
    this.#changed()
  }

  end(image: string) {
    this.#images.get(image)!.done = true
    this.#changed()
  }

  get images(): ImagePull[] {
    return [...this.#images].map(([image, { layers, done }]) => ({
      image,
      layers: [...layers.values()],
      done,
    }))
  }
}
