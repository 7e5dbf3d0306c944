export default { title: 'VitePress' }
