/** What a Docker object is for; `davit.kind` of its labels. */
export type Kind = 'app' | 'build' | 'service'

/**
 * The labels by which Davit finds again what it made. Every key is always set, so that labels of an
 * image or a Dockerfile can't pass for ours.
 */
export const labelsFor = ({
  instanceId,
  kind,
  ownerId,
  projectId = '',
  environmentId = '',
  deploymentId = '',
  serviceId = '',
}: {
  instanceId: string
  kind: Kind
  ownerId: string
  projectId?: string
  environmentId?: string
  deploymentId?: string
  serviceId?: string
}): Record<string, string> => ({
  'davit.instance': instanceId,
  'davit.kind': kind,
  'davit.owner': ownerId,
  'davit.project': projectId,
  'davit.environment': environmentId,
  'davit.deployment': deploymentId,
  'davit.service': serviceId,
})

/** The filter for everything of this installation that belongs to what is named. */
export const labelFilter = (
  instanceId: string,
  of: {
    projectId?: string
    environmentId?: string
    deploymentId?: string
    serviceId?: string
  } = {},
): string[] => [
  `davit.instance=${instanceId}`,
  ...(of.projectId ? [`davit.project=${of.projectId}`] : []),
  ...(of.environmentId ? [`davit.environment=${of.environmentId}`] : []),
  ...(of.deploymentId ? [`davit.deployment=${of.deploymentId}`] : []),
  ...(of.serviceId ? [`davit.service=${of.serviceId}`] : []),
]
