/** A layer of an image on its way here, in bytes; `total` 0 while it is not known. */
export type Layer = { id: string; status: string; current: number; total: number }

export type ImagePull = { image: string; layers: Layer[]; done: boolean }

/** How far the images of a start have come, for whoever looks: kept in memory, as the start itself is. */
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

  layer(image: string, layer: Layer) {
    this.#images.get(image)!.layers.set(layer.id, layer)
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
