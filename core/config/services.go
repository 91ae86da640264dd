package config

import (
	"fmt"
	"net/url"
	"strings"
)

// The APIs that models are spoken to with, as models.json names them.
const (
	APIAnthropic   = "anthropic-messages"
	APICompletions = "openai-completions"
	APIResponses   = "openai-responses"
	APIGoogle      = "google-generative-ai"
	APIDemo        = "demo"
)

// DemoProvider is the built-in provider that needs no key and no network. It
// is used only where somebody asked for it by name.
const DemoProvider = "demo"

// service is a provider that needs no entry in models.json.
type service struct {
	id      string
	catwalk string // its name in the catalogue; empty: the catalogue has no models of it
	api     string
	baseURL string
	// addressFrom works the base URL out from the environment in place of
	// baseURL; nil for most.
	addressFrom func(Env) (string, error)
	keys        []string // environment variables, the first that is set counts
}

// services lists the providers in the order in which a default is looked for.
// Names are those of the reference agents where they have the service.
var services = []service{
	{id: "anthropic", catwalk: "anthropic", api: APIAnthropic, baseURL: "https://api.anthropic.com", keys: []string{"ANTHROPIC_API_KEY"}},
	{id: "openai", catwalk: "openai", api: APIResponses, baseURL: "https://api.openai.com/v1", keys: []string{"OPENAI_API_KEY"}},
	{id: "google", catwalk: "gemini", api: APIGoogle, baseURL: "https://generativelanguage.googleapis.com/v1beta", keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}},
	{id: "azure-openai-responses", catwalk: "azure", api: APIResponses, addressFrom: azureAddress, keys: []string{"AZURE_OPENAI_API_KEY"}},
	{id: "openrouter", catwalk: "openrouter", api: APICompletions, baseURL: "https://openrouter.ai/api/v1", keys: []string{"OPENROUTER_API_KEY"}},
	{id: "xai", catwalk: "xai", api: APICompletions, baseURL: "https://api.x.ai/v1", keys: []string{"XAI_API_KEY"}},
	{id: "groq", catwalk: "groq", api: APICompletions, baseURL: "https://api.groq.com/openai/v1", keys: []string{"GROQ_API_KEY"}},
	{id: "cerebras", catwalk: "cerebras", api: APICompletions, baseURL: "https://api.cerebras.ai/v1", keys: []string{"CEREBRAS_API_KEY"}},
	{id: "deepseek", catwalk: "deepseek", api: APICompletions, baseURL: "https://api.deepseek.com/v1", keys: []string{"DEEPSEEK_API_KEY"}},
	{id: "mistral", api: APICompletions, baseURL: "https://api.mistral.ai/v1", keys: []string{"MISTRAL_API_KEY"}},
	{id: "moonshot", catwalk: "moonshot", api: APICompletions, baseURL: "https://api.moonshot.ai/v1", keys: []string{"MOONSHOT_API_KEY"}},
	{id: "kimi-coding", catwalk: "kimi-coding", api: APIAnthropic, baseURL: "https://api.kimi.com/coding", keys: []string{"KIMI_API_KEY", "KIMI_CODING_API_KEY"}},
	{id: "zai", catwalk: "zai", api: APICompletions, baseURL: "https://api.z.ai/api/coding/paas/v4", keys: []string{"ZAI_API_KEY"}},
	{id: "zai-coding-cn", catwalk: "zhipu-coding", api: APICompletions, baseURL: "https://open.bigmodel.cn/api/coding/paas/v4", keys: []string{"ZAI_CODING_CN_API_KEY", "ZHIPU_API_KEY"}},
	{id: "zhipu", catwalk: "zhipu", api: APICompletions, baseURL: "https://open.bigmodel.cn/api/paas/v4", keys: []string{"ZHIPU_API_KEY"}},
	{id: "minimax", catwalk: "minimax", api: APIAnthropic, baseURL: "https://api.minimax.io/anthropic", keys: []string{"MINIMAX_API_KEY"}},
	{id: "minimax-cn", catwalk: "minimax-china", api: APIAnthropic, baseURL: "https://api.minimaxi.com/anthropic", keys: []string{"MINIMAX_CN_API_KEY"}},
	{id: "huggingface", catwalk: "huggingface", api: APICompletions, baseURL: "https://router.huggingface.co/v1", keys: []string{"HF_TOKEN"}},
	{id: "fireworks", catwalk: "fireworks", api: APICompletions, baseURL: "https://api.fireworks.ai/inference/v1", keys: []string{"FIREWORKS_API_KEY"}},
	{id: "together", api: APICompletions, baseURL: "https://api.together.xyz/v1", keys: []string{"TOGETHER_API_KEY"}},
	{id: "nvidia", api: APICompletions, baseURL: "https://integrate.api.nvidia.com/v1", keys: []string{"NVIDIA_API_KEY"}},
	{id: "baseten", catwalk: "baseten", api: APICompletions, baseURL: "https://inference.baseten.co/v1", keys: []string{"BASETEN_API_KEY"}},
	{id: "vercel-ai-gateway", catwalk: "vercel", api: APICompletions, baseURL: "https://ai-gateway.vercel.sh/v1", keys: []string{"AI_GATEWAY_API_KEY", "VERCEL_API_KEY"}},
	{id: "opencode", catwalk: "opencode-zen", api: APICompletions, baseURL: "https://opencode.ai/zen/v1", keys: []string{"OPENCODE_API_KEY"}},
	{id: "opencode-go", catwalk: "opencode-go", api: APICompletions, baseURL: "https://opencode.ai/zen/go/v1", keys: []string{"OPENCODE_API_KEY"}},
	{id: "aihubmix", catwalk: "aihubmix", api: APICompletions, baseURL: "https://aihubmix.com/v1", keys: []string{"AIHUBMIX_API_KEY"}},
	{id: "alibaba-singapore", catwalk: "alibaba-singapore", api: APICompletions, baseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", keys: []string{"ALIBABA_SINGAPORE_API_KEY"}},
	{id: "alibaba-us", catwalk: "alibaba-us", api: APICompletions, baseURL: "https://dashscope-us.aliyuncs.com/compatible-mode/v1", keys: []string{"ALIBABA_US_API_KEY"}},
	{id: "atlascloud", catwalk: "atlascloud", api: APICompletions, baseURL: "https://api.atlascloud.ai/v1", keys: []string{"ATLASCLOUD_API_KEY"}},
	{id: "avian", catwalk: "avian", api: APICompletions, baseURL: "https://api.avian.io/v1", keys: []string{"AVIAN_API_KEY"}},
	{id: "chutes", catwalk: "chutes", api: APICompletions, baseURL: "https://llm.chutes.ai/v1", keys: []string{"CHUTES_API_KEY"}},
	{id: "cortecs", catwalk: "cortecs", api: APICompletions, baseURL: "https://api.cortecs.ai/v1", keys: []string{"CORTECS_API_KEY"}},
	{id: "ionet", catwalk: "ionet", api: APICompletions, baseURL: "https://api.intelligence.io.solutions/api/v1", keys: []string{"IONET_API_KEY"}},
	{id: "nebius", catwalk: "nebius", api: APICompletions, baseURL: "https://api.tokenfactory.nebius.com/v1", keys: []string{"NEBIUS_API_KEY"}},
	{id: "neuralwatt", catwalk: "neuralwatt", api: APICompletions, baseURL: "https://api.neuralwatt.com/v1", keys: []string{"NEURALWATT_API_KEY"}},
	{id: "qiniucloud", catwalk: "qiniucloud", api: APICompletions, baseURL: "https://api.qnaigc.com/v1", keys: []string{"QINIUCLOUD_API_KEY"}},
	{id: "scaleway", catwalk: "scaleway", api: APICompletions, baseURL: "https://api.scaleway.ai/v1", keys: []string{"SCW_SECRET_KEY"}},
	{id: "synthetic", catwalk: "synthetic", api: APICompletions, baseURL: "https://api.synthetic.new/openai/v1", keys: []string{"SYNTHETIC_API_KEY"}},
	{id: "venice", catwalk: "venice", api: APICompletions, baseURL: "https://api.venice.ai/api/v1", keys: []string{"VENICE_API_KEY"}},
}

func serviceOf(id string) (service, bool) {
	for _, s := range services {
		if s.id == id {
			return s, true
		}
	}
	return service{}, false
}

// KeyVariables lists the environment variables that hold the keys of the
// built-in providers, so that they can be kept from child processes.
func KeyVariables() []string {
	var names []string
	seen := map[string]bool{}
	for _, s := range services {
		for _, name := range s.keys {
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// azureAddress gives the base URL of an Azure resource: AZURE_OPENAI_BASE_URL,
// where a bare host gets the path of the API, or the host that belongs to
// AZURE_OPENAI_RESOURCE_NAME.
func azureAddress(env Env) (string, error) {
	address := env("AZURE_OPENAI_BASE_URL")
	if address == "" {
		name := env("AZURE_OPENAI_RESOURCE_NAME")
		if name == "" {
			return "", fmt.Errorf("set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME")
		}
		address = "https://" + name + ".openai.azure.com"
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("AZURE_OPENAI_BASE_URL is no address: %q", address)
	}
	if p := strings.TrimSuffix(u.Path, "/"); p == "" || p == "/openai" {
		u.Path = "/openai/v1"
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}
