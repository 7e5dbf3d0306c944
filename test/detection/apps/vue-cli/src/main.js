import { createApp, h } from 'vue'

createApp(() => h('p', document.title)).mount('#app')
