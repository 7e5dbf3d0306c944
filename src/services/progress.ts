/** A layer that is being pulled, in bytes. `total` is 0 while unknown. */
export type Layer = { id: string; status: string; current: number; total: number }

export type ImagePull = { image: string; layers: Layer[]; done: boolean }

/** The progress of pulls for one start, for all viewers. Kept in memory, as it ends with the process. */
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

  /** Missing fields keep their values: a layer's size is only sent with its first bytes. */
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
