package anthropic

import (
	"encoding/json"

	"github.com/seed-54e836f5/pi/core/provider"
)

// quirks are the members of compat in models.json that this API has. The
// names are those of the reference configuration; others are left alone.
type quirks struct {
	SupportsEagerToolInputStreaming *bool `json:"supportsEagerToolInputStreaming"` // nil: true
	SupportsLongCacheRetention      *bool `json:"supportsLongCacheRetention"`      // nil: true
	SupportsCacheControlOnTools     *bool `json:"supportsCacheControlOnTools"`     // nil: true
	SendSessionAffinityHeaders      bool  `json:"sendSessionAffinityHeaders"`
	ForceAdaptiveThinking           bool  `json:"forceAdaptiveThinking"`
	AllowEmptySignature             bool  `json:"allowEmptySignature"`
}

func readQuirks(compat json.RawMessage) (quirks, error) {
	var q quirks
	if len(compat) == 0 {
		return q, nil
	}
	if err := json.Unmarshal(compat, &q); err != nil {
		return q, provider.Errorf(provider.Invalid, "compat of the model, in models.json: %w", err)
	}
	return q, nil
}

func unlessOff(setting *bool) bool { return setting == nil || *setting }

// The features of the API that a request asks for by header.
const (
	interleavedThinking = "interleaved-thinking-2025-05-14"
	fineGrainedTools    = "fine-grained-tool-streaming-2025-05-14"
)

// headers are those that the model needs beside what the SDK sends.
func (q quirks) headers(req provider.Request) map[string]string {
	headers := map[string]string{}
	add := func(feature string) {
		if headers["anthropic-beta"] != "" {
			feature = headers["anthropic-beta"] + "," + feature
		}
		headers["anthropic-beta"] = feature
	}
	if req.Model.Reasoning && !q.ForceAdaptiveThinking {
		add(interleavedThinking)
	}
	if len(req.Tools) > 0 && !unlessOff(q.SupportsEagerToolInputStreaming) {
		add(fineGrainedTools)
	}
	if q.SendSessionAffinityHeaders && req.SessionID != "" {
		headers["x-session-affinity"] = req.SessionID
	}
	return headers
}
