import type { Field } from './field.ts'

const advice: Record<string, string> = {
  build: 'Davit only pulls images. Build it in a project, or use an image here.',
  cgroup_parent: 'Davit sets the limits itself.',
  extends: 'Define the whole service here.',
  external_links: 'A service can only reach those in its own file.',
  include: 'Write the services into this file.',
  mem_reservation: 'Use deploy.resources.reservations.memory.',
  memswap_limit: 'Davit allows no swap beyond the memory.',
}

export const adviceOn = (key: string) => (Object.hasOwn(advice, key) ? advice[key]! : 'Remove it.')

/** Keys without an effect, and why. */
const ignored = {
  dns: 'Docker resolves names.',
  pull_policy: 'Davit pulls missing images.',
  stdin_open: 'Nothing is attached to a service.',
  tty: 'A service has no terminal.',
}

/** The image of a service with `build` is built: its name is only of use elsewhere. */
export const ignoredInRepository = { ...ignored, develop: 'It is for a laptop.' }

/** Compose too only builds when no image is available. */
export const ignoredOf = (service: Field) =>
  service.get('image').absent ? ignored : { ...ignored, build: 'Davit uses its image.' }

/** Keys for placement and updates in a cluster. */
export const ignoredOfDeploy = {
  endpoint_mode: 'Its name leads to its one container.',
  labels: 'They are for clusters.',
  placement: 'One server runs all of it, which is chosen beside the file.',
  rollback_config: 'Davit rolls back by itself.',
  update_config: 'Davit stops the old containers first.',
}
