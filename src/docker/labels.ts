/** What a Docker object is for. */
export type Kind = 'app' | 'build' | 'service' | 'edge'

const keys = {
  instanceId: 'davit.instance',
  kind: 'davit.kind',
  ownerId: 'davit.owner',
  projectId: 'davit.project',
  environmentId: 'davit.environment',
  deploymentId: 'davit.deployment',
  serviceId: 'davit.service',
}

/** Which component of its workload's release a container is. */
export const partLabel = 'davit.part'

/** The ports that the Dockerfile of an image exposes, in its order, without those of its base image. */
export const portsLabel = 'davit.ports'

type Field = keyof typeof keys
type Labels = Record<string, string>

/** To what a Docker object belongs. */
export type Belonging = Partial<Omit<Record<Field, string>, 'kind'>> & { kind?: Kind }

const fields = Object.keys(keys) as Field[]

/**
 * The labels by which Davit finds what it created. Every key is always set, so that labels of
 * an image or a Dockerfile can't imitate ours.
 */
export const labelsFor = (
  of: Belonging & { instanceId: string; kind: Kind; ownerId: string },
): Labels => Object.fromEntries(fields.map((field) => [keys[field], of[field] ?? '']))

/** Labels of images that only describe them. */
const descriptive = /^(org\.opencontainers\.image\.|org\.label-schema\.)|^maintainer$/

/**
 * What a user's file and its image label a container with, so that no other program on the server obeys it,
 * such as a proxy that is led by labels: those of a file get another name, and those of an image no value,
 * since a container can't be without them.
 */
export const tamedLabels = (ofFile: Labels, ofImage: Labels): Labels => ({
  ...Object.fromEntries(
    Object.keys(ofImage).flatMap((key) => (descriptive.test(key) ? [] : [[key, '']])),
  ),
  ...Object.fromEntries(Object.entries(ofFile).map(([key, value]) => [`label.${key}`, value])),
})

/** Reads labels, whoever wrote them; empty when a label is missing. */
export const readLabels = (labels: Labels) =>
  Object.fromEntries(fields.map((field) => [field, labels[keys[field]] ?? ''])) as Record<
    Field,
    string
  >

/** Whether they belong to an installation of Davit, this one or another. */
export const areDavits = (labels: Labels) => keys.instanceId in labels

/** The filter for everything of this installation that belongs to what is named. */
export const labelFilter = (instanceId: string, of: Belonging = {}): string[] =>
  fields.flatMap((field) => {
    const value = { ...of, instanceId }[field]
    return value ? [`${keys[field]}=${value}`] : []
  })
