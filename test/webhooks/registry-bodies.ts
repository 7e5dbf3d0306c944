/** What registries send for a new image `team/app:1.1`, as their documentation shows it, shortened. */
export const bodies = {
  docker_hub: {
    callback_url:
      'https://registry.hub.docker.com/u/team/app/hook/2141b5bi5i5b02bec211i4eeih0242eg11000a/',
    push_data: { pushed_at: 1417566161, pusher: 'trustedbuilder', tag: '1.1' },
    repository: {
      name: 'app',
      namespace: 'team',
      owner: 'team',
      repo_name: 'team/app',
      repo_url: 'https://registry.hub.docker.com/u/team/app/',
      status: 'Active',
    },
  },
  ghcr: {
    action: 'published',
    package: {
      id: 10696,
      name: 'App',
      namespace: 'Team',
      ecosystem: 'CONTAINER',
      package_type: 'CONTAINER',
      owner: { login: 'Team', id: 1, type: 'Organization' },
      package_version: {
        id: 1,
        version: `sha256:${'b'.repeat(64)}`,
        container_metadata: {
          tag: { name: '1.1', digest: `sha256:${'b'.repeat(64)}` },
          labels: {},
          manifest: {},
        },
        package_url: 'ghcr.io/Team/App:1.1',
      },
      registry: { name: 'GitHub CONTAINER registry', type: 'CONTAINER', vendor: 'GitHub Inc' },
    },
    repository: { id: 1, full_name: 'Team/App' },
    sender: { login: 'octocat' },
  },
  gitea: {
    action: 'created',
    repository: null,
    package: {
      id: 1,
      owner: { id: 1, login: 'Team', full_name: '' },
      repository: null,
      creator: { id: 1, login: 'ada' },
      type: 'container',
      name: 'app',
      version: '1.1',
      html_url: 'https://gitea.example.com/Team/-/packages/container/app/1.1',
    },
    organization: { id: 1, login: 'Team' },
    sender: { id: 1, login: 'ada' },
  },
  harbor: {
    type: 'PUSH_ARTIFACT',
    occur_at: 1680501893,
    operator: 'harbor-jobservice',
    event_data: {
      resources: [
        {
          digest: `sha256:${'b'.repeat(64)}`,
          tag: '1.1',
          resource_url: 'harbor.example.com/team/app:1.1',
        },
      ],
      repository: {
        date_created: 1677053165,
        name: 'app',
        namespace: 'team',
        repo_full_name: 'team/app',
        repo_type: 'private',
      },
    },
  },
  harborEvent: {
    specversion: '1.0',
    id: '4b2f89a6-548d-4c12-9993-a1f5790b97d2',
    source: '/projects/1/webhook/policies/3',
    type: 'harbor.artifact.pushed',
    datacontenttype: 'application/json',
    time: '2023-04-03T06:04:38Z',
    data: {
      resources: [
        { digest: `sha256:${'b'.repeat(64)}`, tag: '1.1', resource_url: 'x/team/app:1.1' },
      ],
      repository: {
        name: 'app',
        namespace: 'team',
        repo_full_name: 'team/app',
        repo_type: 'private',
      },
    },
    operator: 'admin',
  },
  quay: {
    name: 'app',
    repository: 'team/app',
    namespace: 'team',
    docker_url: 'quay.io/team/app',
    homepage: 'https://quay.io/repository/team/app',
    updated_tags: ['1.1'],
  },
  /** GitLab's registry sends the same. */
  distribution: {
    events: [
      {
        id: '320678d8-ca14-430f-8bb6-4ca139cd83f7',
        timestamp: '2016-03-09T14:44:26.402973972-08:00',
        action: 'push',
        target: {
          mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
          size: 708,
          digest: `sha256:${'b'.repeat(64)}`,
          repository: 'team/app',
          url: 'http://192.168.100.227:5000/v2/team/app/manifests/sha256:b',
          tag: '1.1',
        },
        request: {
          id: '6df24a34',
          addr: '192.168.64.11:42961',
          host: '192.168.100.227:5000',
          method: 'PUT',
        },
        actor: {},
        source: { addr: 'xtal.local:5000', instanceID: 'a53db899' },
      },
      {
        action: 'push',
        target: {
          mediaType: 'application/octet-stream',
          digest: `sha256:${'c'.repeat(64)}`,
          repository: 'team/app',
        },
      },
      { action: 'pull', target: { repository: 'team/app', tag: '1.1' } },
    ],
  },
  azure: {
    id: 'cb8c3971-9adc-488b-bdd8-43cbb4974ff5',
    timestamp: '2017-11-17T16:52:01.343145347Z',
    action: 'push',
    target: {
      mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
      size: 524,
      digest: `sha256:${'b'.repeat(64)}`,
      repository: 'team/app',
      tag: '1.1',
    },
    request: { id: '3cbb6949', host: 'myregistry.azurecr.io', method: 'PUT' },
  },
}
