import type { Image } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import type { Component } from '../runtime/component.ts'
import { ofImage } from './compose/template.ts'
import type { ServicePort } from './store.ts'

export type Pulled = Component & { image: Pick<Image, 'exposedPorts' | 'volumes'> }

/** Replaces ports that the file leaves to its images with the first port that each exposes. */
export function withImagePorts(pulled: Pulled[], ports: ServicePort[]) {
  const named = new Map<string, number>()
  const components = pulled.map(({ image, ...component }): Component => {
    const { options, name } = component
    const own = options.ports ?? []
    if (!own.some(({ container }) => container === ofImage)) return component
    const port = firstOf(image, name)
    named.set(name, port)
    const published = own.map((p) => (p.container === ofImage ? { ...p, container: port } : p))
    return { ...component, options: { ...options, ports: published } }
  })
  return {
    components,
    ports: ports.map((port) =>
      port.containerPort === ofImage ? { ...port, containerPort: named.get(port.target)! } : port,
    ),
  }
}

function firstOf({ exposedPorts: [first] }: Pulled['image'], service: string) {
  if (first !== undefined) return first
  throw new Failure(
    'no_port',
    `Neither the file nor the image of ${service} has a port to publish.`,
    `Add it to the file: write expose: ["80"] under ${service}.`,
  )
}
