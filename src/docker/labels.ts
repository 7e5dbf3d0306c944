/** The purpose of a Docker object. */
export type Kind = 'app' | 'build' | 'service' | 'edge' | 'backup'

const keys = {
  instanceId: 'davit.instance',
  kind: 'davit.kind',
  ownerId: 'davit.owner',
  projectId: 'davit.project',
  environmentId: 'davit.environment',
  deploymentId: 'davit.deployment',
  serviceId: 'davit.service',
}

/** On everything that an installation made, with its id. */
export const instanceLabel = keys.instanceId

/** Names the component of a container in its workload's release. */
export const partLabel = 'davit.part'

/** Tells containers that only one process of Davit uses from those that an earlier one left. */
export const processLabel = 'davit.process'

/** Its value for this process. */
export const thisProcess = crypto.randomUUID()

/** The ports that the Dockerfile of an image exposes, in its order, without those of its base image. */
export const portsLabel = 'davit.ports'

type Field = keyof typeof keys
type Labels = Record<string, string>

/** The owners of a Docker object. */
export type Belonging = Partial<Omit<Record<Field, string>, 'kind'>> & { kind?: Kind }

const fields = Object.keys(keys) as Field[]

/**
 * The labels by which Davit finds what it created. Every key is always set, so that labels of an image or a
 * Dockerfile can't imitate ours.
 */
export const labelsFor = (
  of: Belonging & { instanceId: string; kind: Kind; ownerId: string },
): Labels => Object.fromEntries(fields.map((field) => [keys[field], of[field] ?? '']))

/** These labels of images only describe them. */
const descriptive = /^(org\.opencontainers\.image\.|org\.label-schema\.)|^maintainer$/

/**
 * Changes labels from a user's file and its image so that no other program on the server, such as a proxy
 * configured by labels, obeys them: those of a file are renamed, and those of an image emptied, since a
 * container can't be without them.
 */
export const tamedLabels = (ofFile: Labels, ofImage: Labels): Labels => ({
  ...Object.fromEntries(
    Object.keys(ofImage).flatMap((key) => (descriptive.test(key) ? [] : [[key, '']])),
  ),
  ...Object.fromEntries(Object.entries(ofFile).map(([key, value]) => [`label.${key}`, value])),
})

/** Anyone may have written the labels. Missing ones are returned empty. */
export const readLabels = (labels: Labels) =>
  Object.fromEntries(fields.map((field) => [field, labels[keys[field]] ?? ''])) as Record<
    Field,
    string
  >

/** True for labels of any installation of Davit. */
export const areDavits = (labels: Labels) => keys.instanceId in labels

/** Matches everything of this installation that belongs to the given objects. */
export const labelFilter = (instanceId: string, of: Belonging = {}): string[] =>
  fields.flatMap((field) => {
    const value = { ...of, instanceId }[field]
    return value ? [`${keys[field]}=${value}`] : []
  })
